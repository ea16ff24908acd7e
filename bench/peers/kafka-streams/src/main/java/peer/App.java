package peer;

import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.kstream.Repartitioned;
import org.apache.kafka.streams.state.Stores;

/**
 * A leaderboard in Kafka Streams with exactly_once_v2. Arguments: application id, brokers, input topic, output topic, folder of
 * the state. Prints {@code first} when it handles its first event.
 */
public final class App {
    private static final AtomicBoolean BEGUN = new AtomicBoolean();

    public static void main(String[] args) throws InterruptedException {
        KafkaStreams streams = new KafkaStreams(ranks(args[2], args[3]), settings(args[0], args[1], args[4]));
        CountDownLatch closed = new CountDownLatch(1);
        streams.setUncaughtExceptionHandler(problem -> {
            problem.printStackTrace();
            return StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
        });
        streams.setStateListener((now, before) -> {
            if (now == KafkaStreams.State.NOT_RUNNING || now == KafkaStreams.State.ERROR) closed.countDown();
        });
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
        closed.await();
    }

    private static Properties settings(String id, String brokers, String folder) {
        Properties settings = new Properties();
        settings.put(StreamsConfig.APPLICATION_ID_CONFIG, id);
        settings.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, brokers);
        settings.put(StreamsConfig.STATE_DIR_CONFIG, folder);
        settings.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        settings.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 100);
        settings.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0); // faster than any cache on random players
        settings.put(StreamsConfig.producerPrefix("batch.size"), 131_072);
        settings.put(StreamsConfig.REPARTITION_PURGE_INTERVAL_MS_CONFIG, 600_000); // no purge during a measurement
        return settings;
    }

    /** Two sub-topologies: parse and send to the board's partition; rank there. */
    private static Topology ranks(String input, String output) {
        StreamsBuilder builder = new StreamsBuilder();
        builder.addStateStore(Stores
            .keyValueStoreBuilder(Stores.persistentKeyValueStore(RankProcessor.STORE), Serdes.String(), Serdes.ByteArray())
            .withLoggingEnabled(Map.of()).withCachingDisabled());
        builder
            .stream(input, Consumed.with(Serdes.String(), Serdes.serdeFrom((topic, event) -> null, new ScoreEvent.JsonReader())))
            .peek((player, event) -> begin())
            .selectKey((player, event) -> event.board())
            .repartition(Repartitioned.with(Serdes.String(), ScoreEvent.binary()).withName("by-board").withNumberOfPartitions(2))
            .process(RankProcessor::new, RankProcessor.STORE)
            .to(output, Produced.with(Serdes.String(), Serdes.ByteArray()));
        return builder.build();
    }

    private static void begin() {
        if (!BEGUN.get() && BEGUN.compareAndSet(false, true)) System.out.println("first 0");
    }

    private App() {}
}
