package peer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.apache.kafka.common.serialization.Deserializer;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.Serializer;

/** One score event. {@code occurredAt} is in milliseconds. */
record ScoreEvent(String board, String playerId, long delta, long occurredAt, String eventId) {

    /** Reads the JSON of the input topic with Jackson's streaming parser (no data binding). */
    static final class JsonReader implements Deserializer<ScoreEvent> {
        private static final JsonFactory JSON = new JsonFactory();

        @Override
        public ScoreEvent deserialize(String topic, byte[] bytes) {
            String board = null, playerId = null, eventId = null;
            long delta = 0, occurredAt = 0;
            try (JsonParser json = JSON.createParser(bytes)) {
                if (json.nextToken() != JsonToken.START_OBJECT) throw new IOException("not an object");
                for (String field = json.nextFieldName(); field != null; field = json.nextFieldName()) {
                    json.nextToken();
                    switch (field) {
                        case "board" -> board = json.getText();
                        case "playerId" -> playerId = json.getText();
                        case "delta" -> delta = json.getLongValue();
                        case "occurredAt" -> occurredAt = Instant.parse(json.getText()).toEpochMilli();
                        case "eventId" -> eventId = json.getText();
                        default -> json.skipChildren();
                    }
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return new ScoreEvent(board, playerId, delta, occurredAt, eventId);
        }
    }

    /** Compact binary form for the repartition topic, cheaper than JSON a second time. */
    static Serde<ScoreEvent> binary() {
        Serializer<ScoreEvent> write = (topic, event) -> {
            byte[] board = event.board.getBytes(StandardCharsets.UTF_8);
            byte[] player = event.playerId.getBytes(StandardCharsets.UTF_8);
            byte[] id = event.eventId.getBytes(StandardCharsets.UTF_8);
            return ByteBuffer.allocate(22 + board.length + player.length + id.length)
                .putLong(event.delta).putLong(event.occurredAt)
                .putShort((short) board.length).put(board)
                .putShort((short) player.length).put(player)
                .putShort((short) id.length).put(id)
                .array();
        };
        Deserializer<ScoreEvent> read = (topic, bytes) -> {
            ByteBuffer in = ByteBuffer.wrap(bytes);
            long delta = in.getLong(), occurredAt = in.getLong();
            return new ScoreEvent(string(in), string(in), delta, occurredAt, string(in));
        };
        return Serdes.serdeFrom(write, read);
    }

    private static String string(ByteBuffer in) {
        int length = in.getShort();
        String text = new String(in.array(), in.position(), length, StandardCharsets.UTF_8);
        in.position(in.position() + length);
        return text;
    }
}
