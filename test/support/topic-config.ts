import { ConfigResourceTypes } from 'kafkajs';
import type { TestInstance } from './instance.js';

/** Sets the configuration of a topic: these entries, and the broker's defaults for all others. */
export async function configure(
  { admin }: TestInstance,
  topic: string,
  entries: Readonly<Record<string, string>>,
): Promise<void> {
  const configEntries = Object.entries(entries).map(([name, value]) => ({ name, value }));
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configEntries }],
  });
}
