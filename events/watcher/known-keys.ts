import type { FunctionDefinition } from '../../shared/runtime/definition.ts';
import { keyText, type ReconcileKey } from '../../shared/runtime/key.ts';

/** Which keys a function has objects for, apart from those of its subscriptions with `onlyKnownKeys`. */
export interface KnownKeys {
  /** Counts one object with these keys instead of the former ones. */
  replace(functionName: string, former: readonly ReconcileKey[], keys: readonly ReconcileKey[]): void;
  has(functionName: string, key: ReconcileKey): boolean;
}

/** Creates the known keys of all functions with such a subscription; the others are not counted. */
export function createKnownKeys(definitions: readonly FunctionDefinition[]): KnownKeys {
  const counts = new Map<string, Map<string, number>>();
  for (const { name, subscriptions } of definitions) {
    if (subscriptions.some(({ onlyKnownKeys }) => onlyKnownKeys === true)) counts.set(name, new Map());
  }
  return {
    replace(functionName, former, keys) {
      const known = counts.get(functionName);
      if (known === undefined || former === keys) return;
      for (const key of keys) {
        const text = keyText(key);
        known.set(text, (known.get(text) ?? 0) + 1);
      }
      for (const key of former) {
        const text = keyText(key);
        const left = (known.get(text) ?? 0) - 1;
        if (left > 0) known.set(text, left);
        else known.delete(text);
      }
    },
    has: (functionName, key) => counts.get(functionName)?.has(keyText(key)) === true,
  };
}
