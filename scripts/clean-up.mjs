// @ts-check

/**
 * Runs some work, and cleans up afterwards, also if the work fails. A clean-up that fails too is
 * only printed then: what went wrong first is the cause.
 * @template T
 * @param {() => Promise<T>} work @param {() => Promise<unknown>} cleanUp
 * @returns {Promise<T>}
 */
export async function withCleanUp(work, cleanUp) {
  /** @type {T} */
  let result;
  try {
    result = await work();
  } catch (error) {
    try {
      await cleanUp();
    } catch (failure) {
      console.error('the clean-up failed as well:', failure);
    }
    throw error;
  }
  await cleanUp();
  return result;
}
