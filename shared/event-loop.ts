/** How long work may occupy the event loop before timers, requests and other answers get their turn. */
const TURN_MS = 5;

let turnBegan = 0;
let nextTurn: Promise<void> | undefined;

/**
 * Resolves at once, or in the next turn of the event loop when this turn has lasted some milliseconds. For loops over
 * what arrives faster than it is handled: microtasks and buffered chunks alone never end a turn. All such loops of a
 * process share the turns.
 */
export async function yieldToOthers(): Promise<void> {
  while (performance.now() - turnBegan > TURN_MS) {
    nextTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        nextTurn = undefined;
        turnBegan = performance.now();
        resolve();
      });
    });
    await nextTurn;
  }
}
