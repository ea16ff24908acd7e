import { Module } from '@nestjs/common';
import { BoardRegistrar } from './board-registrar.js';
import { DefinitionsTopic } from '../../infra/definitions-topic.js';

@Module({
  providers: [DefinitionsTopic, BoardRegistrar],
  exports: [DefinitionsTopic, BoardRegistrar],
})
export class RegistryModule {}
