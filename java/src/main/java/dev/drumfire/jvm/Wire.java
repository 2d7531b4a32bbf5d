package dev.drumfire.jvm;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The byte format of what goes between the engine and Java: little endian, texts as length and UTF-8, null as length -1. */
final class Wire {
    private static final VarHandle INT = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle LONG = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);

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
        private byte[] bytes = new byte[512];
        private int length;

        private int room(int count) {
            if (bytes.length - length < count) {
                bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, Math.addExact(length, count)));
            }
            length += count;
            return length - count;
        }

        Writer flag(boolean flag) {
            int place = room(1); // may make another array
            bytes[place] = (byte) (flag ? 1 : 0);
            return this;
        }

        Writer number(int number) {
            int place = room(Integer.BYTES);
            INT.set(bytes, place, number);
            return this;
        }

        Writer large(long number) {
            int place = room(Long.BYTES);
            LONG.set(bytes, place, number);
            return this;
        }

        Writer bytes(byte[] content) {
            if (content == null) {
                return number(-1);
            }
            number(content.length);
            int place = room(content.length);
            System.arraycopy(content, 0, bytes, place, content.length);
            return this;
        }

        Writer text(String text) {
            return bytes(text == null ? null : text.getBytes(StandardCharsets.UTF_8));
        }

        byte[] done() {
            return Arrays.copyOf(bytes, length);
        }
    }
}
