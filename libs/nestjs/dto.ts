/**
 * An entry of its own, so that the other one needs neither class-validator nor class-transformer.
 */
export * from '#contracts/dto';
