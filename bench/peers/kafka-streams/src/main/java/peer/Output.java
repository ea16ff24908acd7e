package peer;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;

/** The JSON of the output topic. */
final class Output {
    private static final JsonFactory JSON = new JsonFactory();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(256);

    /** @param previousRank 0 for a player who was not on the board: written as null */
    byte[] rank(ScoreEvent event, long score, int rank, int previousRank) {
        bytes.reset();
        try (JsonGenerator json = JSON.createGenerator(bytes)) {
            json.writeStartObject();
            json.writeStringField("board", event.board());
            json.writeStringField("playerId", event.playerId());
            json.writeStringField("eventId", event.eventId());
            json.writeNumberField("rank", rank);
            if (previousRank > 0) json.writeNumberField("previousRank", previousRank);
            else json.writeNullField("previousRank");
            json.writeNumberField("score", score);
            json.writeEndObject();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }
}
