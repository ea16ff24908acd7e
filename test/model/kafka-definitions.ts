import type { BoardDefinition } from '#board';
import type { DefinitionRecord } from '#contracts';
import { NO_GENERATION, type GenerationsModel } from './generations-model.js';

/** The definition records of Kafka, and the boards file: both outlive the store. */
export class KafkaDefinitions {
  readonly current = new Map<string, DefinitionRecord>();
  /** By board. */
  readonly #file: Map<string, BoardDefinition>;
  /** Boards that are in the file again after they were removed. */
  readonly #again = new Set<string>();

  constructor(file: readonly BoardDefinition[]) {
    this.#file = new Map(file.map((definition) => [definition.board, definition]));
  }

  /** Puts a removed board into the file again. */
  add(definition: BoardDefinition): void {
    this.#file.set(definition.board, definition);
    this.#again.add(definition.board);
  }

  /**
   * The definitions to register: those in the records, and those in the file of boards without a
   * record or added again.
   */
  wanted(): BoardDefinition[] {
    const lasting = [...this.current.values()].flatMap(({ definition }) => definition ?? []);
    const isNew = ({ board }: BoardDefinition) => {
      const known = this.current.get(board);
      return known === undefined || (known.definition === null && this.#again.has(board));
    };
    return [...lasting, ...[...this.#file.values()].filter(isNew)];
  }

  /** Writes the definition record of a board that went live or was removed. */
  record(model: GenerationsModel, board: string): void {
    const since = model.promotions.get(board)!;
    const live = model.liveGeneration(board);
    if (live !== undefined) {
      const { generation, definition, starts } = live;
      this.current.set(board, { board, generation, since, definition, ...(starts && { starts }) });
    } else if (model.removed.has(board)) {
      const known = this.current.get(board);
      if (known?.definition) this.current.set(board, { ...known, since, definition: null });
    }
  }

  /** Writes the records that are missing or outdated. */
  recordMissing(model: GenerationsModel): void {
    for (const [board, since] of model.promotions)
      if (since > (this.current.get(board)?.since ?? 0)) this.record(model, board);
  }

  /**
   * Boards whose last promotion or removal the store lacks. A pointer names the live generation of
   * a board. A removed board has none, or, while it is built again, one that names no generation.
   */
  lostPromotions({ live, promotions }: GenerationsModel): string[] {
    return [...this.current.values()]
      .filter(({ board, since, definition }) => {
        const pointer = live.get(board) ?? NO_GENERATION;
        if (definition === null && pointer === NO_GENERATION) return false;
        return (promotions.get(board) ?? 0) < since;
      })
      .map(({ board }) => board);
  }
}
