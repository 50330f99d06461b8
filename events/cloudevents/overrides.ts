import * as z from 'zod/mini';
import { ShootFluxError } from '../../shared/errors.ts';
import type { Attributes } from './event.ts';

const NAME = /^[a-z0-9]{1,20}$/;
const RESERVED = ['specversion', 'id', 'source', 'type', 'subject', 'time', 'datacontenttype', 'dataschema', 'data'];

const schema = z.object({
  extensions: z.optional(z.record(z.string(), z.string().check(z.maxLength(1000)))),
});

/**
 * Returns the extension attributes that a SinkBinding adds to every event, from the value of `K_CE_OVERRIDES`.
 * @throws ShootFluxError
 */
export function overridesOf(text: string | undefined): Attributes {
  if (!text) return {};
  const { data, error } = z.safeParse(schema, parsed(text));
  if (error !== undefined) throw wrong('it is not of the form {"extensions": {"name": "value"}}');
  const extensions = data.extensions ?? {};
  const bad = Object.keys(extensions).find((name) => !NAME.test(name) || RESERVED.includes(name));
  if (bad !== undefined) {
    throw wrong(`"${bad.slice(0, 40)}" is no name of an extension: at most 20 lower-case letters and digits`);
  }
  return extensions;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong('it is not JSON');
  }
}

function wrong(problem: string): ShootFluxError {
  return new ShootFluxError(`K_CE_OVERRIDES cannot be used: ${problem}; correct ceOverrides of the SinkBinding.`);
}
