import { expect, it } from 'vitest';
import { chartValues } from './files.ts';

it('values.yaml must describe every key', () => {
  expect(() => chartValues('# The image.\nimage: a\n')).not.toThrow();
  expect(() => chartValues('a:\n  b: 1\n')).toThrow('values.yaml: a.b has no comment; describe it in the lines above.');
});
