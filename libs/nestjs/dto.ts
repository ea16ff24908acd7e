/** A separate entry: the main one needs neither class-validator nor class-transformer. */
export * from '#contracts/dto';
