package dev.drumfire.jvm;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;

/** The byte format of what goes between the engine and Java: little endian, texts as length and UTF-8, null as length -1. */
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
        private final ByteArrayOutputStream out = new ByteArrayOutputStream(512);

        Writer flag(boolean flag) {
            out.write(flag ? 1 : 0);
            return this;
        }

        Writer number(int number) {
            for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
                out.write(number >>> shift);
            }
            return this;
        }

        Writer large(long number) {
            return number((int) number).number((int) (number >>> Integer.SIZE));
        }

        Writer bytes(byte[] bytes) {
            if (bytes == null) {
                return number(-1);
            }
            number(bytes.length);
            out.write(bytes, 0, bytes.length);
            return this;
        }

        Writer text(String text) {
            return bytes(text == null ? null : text.getBytes(StandardCharsets.UTF_8));
        }

        byte[] done() {
            return out.toByteArray();
        }
    }
}
