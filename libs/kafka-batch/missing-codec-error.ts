import kafkajs from 'kafkajs';

/** A record that is in the log can't be decompressed here. No retry helps: kafkajs ends its consumer. */
export class MissingCodecError extends kafkajs.KafkaJSNonRetriableError {
  override readonly name = 'MissingCodecError';

  constructor(readonly codec: string) {
    super(
      `a record is compressed with ${codec}, which can't be read here${codec === 'zstd' ? ' before Node 22.15' : ''}; ` +
        'let its producer use gzip or no compression, or set compression.type=gzip on the topic, so that Kafka ' +
        "compresses new records anew. For those that are in the log, register a codec in kafkajs' CompressionCodecs",
    );
  }
}
