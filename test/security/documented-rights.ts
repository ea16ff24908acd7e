import { readFileSync } from 'node:fs';
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  ResourcePatternTypes,
  type AclEntry,
} from 'kafkajs';

const LINES = readFileSync('docs/security.md', 'utf8').split('\n');

/** The commands in docs/security.md that grant rights in Kafka to a user. */
function kafkaCommands(user: string): string[] {
  return LINES.filter((line) =>
    line.startsWith(`kafka-acls --add --allow-principal "User:${user}"`),
  );
}

/** The commands in docs/security.md that create a user of Redis, with this password. */
export function redisCommands(password: string): string[][] {
  return LINES.filter((line) => line.startsWith('ACL SETUSER ')).map((line) =>
    line.replace('PASSWORD', password).split(' '),
  );
}

const RESOURCES: Readonly<Record<string, AclResourceTypes>> = {
  '--topic': AclResourceTypes.TOPIC,
  '--group': AclResourceTypes.GROUP,
  '--transactional-id': AclResourceTypes.TRANSACTIONAL_ID,
};

const OPERATIONS: Readonly<Record<string, AclOperationTypes>> = {
  Read: AclOperationTypes.READ,
  Write: AclOperationTypes.WRITE,
  Create: AclOperationTypes.CREATE,
  Alter: AclOperationTypes.ALTER,
  Describe: AclOperationTypes.DESCRIBE,
  DescribeConfigs: AclOperationTypes.DESCRIBE_CONFIGS,
};

/** An ACL, and the documented command that adds it. */
export interface Grant {
  readonly command: string;
  readonly acl: AclEntry;
}

const COMMAND =
  /--operation (\w+)(?: --resource-pattern-type (prefixed))? (--topic|--group|--transactional-id) (\S+)$/;

/** What the documented commands grant a user, who may have another principal here. */
export function kafkaGrants(user: string, principal = `User:${user}`): Grant[] {
  return kafkaCommands(user).map((documented) => {
    const command = documented.replace(`"User:${user}"`, `"${principal}"`);
    const [, operation = '', prefixed, option = '', resourceName = ''] =
      COMMAND.exec(command) ?? [];
    const acl = {
      resourceType: RESOURCES[option] ?? AclResourceTypes.UNKNOWN,
      resourceName,
      resourcePatternType: prefixed ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
      principal,
      host: '*',
      operation: OPERATIONS[operation] ?? AclOperationTypes.UNKNOWN,
      permissionType: AclPermissionTypes.ALLOW,
    };
    return { command, acl };
  });
}
