import { containerRuns } from './docker-groups.js';
import type { RedisGroup } from './redis-client.js';
import { groupUrl } from './redis-groups.js';
import type { GroupState, ProcessName, ServersFolder } from './servers-folder.js';

/** The URL of a group that runs. */
export function groupAddress(folder: ServersFolder, group: RedisGroup): string | undefined {
  const state = folder.readState().groups?.[group];
  if (state === undefined || !groupRuns(folder, group)) return undefined;
  return groupUrl(group, portsOf(state));
}

export function groupRuns(folder: ServersFolder, group: RedisGroup): boolean {
  const state = folder.readState().groups?.[group];
  if (state?.how === 'docker') return containerRuns(folder, group);
  return runsNatively(folder, group);
}

export function runsNatively(folder: ServersFolder, group: RedisGroup): boolean {
  const state = folder.readState().groups?.[group];
  if (state === undefined) return false;
  return processNames(state, group).some((name) => folder.runningPid(name) !== undefined);
}

export function portsOf({ firstPort, servers }: GroupState): number[] {
  return Array.from({ length: servers }, (_, index) => firstPort + index);
}

export function processNames({ servers }: GroupState, group: RedisGroup): ProcessName[] {
  return Array.from({ length: servers }, (_, index) => processName(group, index));
}

export function processName(group: RedisGroup, index: number): ProcessName {
  return `${group}-${index + 1}`;
}
