package dev.drumfire.jvm;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The byte format between the engine and Java: little endian, texts as length and UTF-8, null as length -1. */
final class Wire {
    private Wire() {
    }

    static final class Reader {
        private final ByteBuffer buffer;

        Reader(byte[] bytes) {
            buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        }

        boolean flag() {
            return buffer.get() != 0;
        }

        int number() {
            return buffer.getInt();
        }

        long large() {
            return buffer.getLong();
        }

        byte[] bytes() {
            int length = buffer.getInt();
            if (length < 0) {
                return null;
            }
            byte[] bytes = new byte[length];
            buffer.get(bytes);
            return bytes;
        }

        String text() {
            int length = buffer.getInt();
            if (length < 0) {
                return null;
            }
            String text = new String(buffer.array(), buffer.position(), length, StandardCharsets.UTF_8);
            buffer.position(buffer.position() + length);
            return text;
        }
    }

    static final class Writer {
        private ByteBuffer buffer = ByteBuffer.allocate(512).order(ByteOrder.LITTLE_ENDIAN);

        private ByteBuffer room(int count) {
            if (buffer.remaining() < count) {
                int size = Math.max(2 * buffer.capacity(), Math.addExact(buffer.position(), count));
                buffer = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN).put(buffer.flip());
            }
            return buffer;
        }

        Writer flag(boolean flag) {
            room(1).put((byte) (flag ? 1 : 0));
            return this;
        }

        Writer number(int number) {
            room(Integer.BYTES).putInt(number);
            return this;
        }

        Writer large(long number) {
            room(Long.BYTES).putLong(number);
            return this;
        }

        Writer bytes(byte[] content) {
            if (content == null) {
                return number(-1);
            }
            number(content.length);
            room(content.length).put(content);
            return this;
        }

        Writer text(String text) {
            return bytes(text == null ? null : text.getBytes(StandardCharsets.UTF_8));
        }

        byte[] done() {
            return Arrays.copyOf(buffer.array(), buffer.position());
        }
    }
}
