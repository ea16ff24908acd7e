/** Where class-transformer keeps what @Type says: not part of its typed surface, but what class-validator-jsonschema asks for. */
declare module 'class-transformer/cjs/storage.js' {
  import type { targetConstructorToSchema } from 'class-validator-jsonschema';

  type Options = NonNullable<Parameters<typeof targetConstructorToSchema>[1]>;
  export const defaultMetadataStorage: NonNullable<Options['classTransformerMetadataStorage']>;
}
