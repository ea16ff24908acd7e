// @ts-check

/** System tests need servers: `npm test` brings them up and says where they are. */
export default function globalSetup() {
  for (const name of ['KAFKA_BROKERS', 'REDIS_URL'])
    if (!process.env[name]) throw new Error(`${name} is not set; run the tests with: npm test`);
}
