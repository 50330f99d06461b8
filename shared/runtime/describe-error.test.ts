import { expect, it } from 'vitest';
import { ConfigError } from '../errors.ts';
import { KubeError } from '../kube/errors.ts';
import { describeError } from './describe-error.ts';

const caught = (run: () => unknown): unknown => {
  try {
    return run();
  } catch (error) {
    return error;
  }
};

it('returns the message of our own errors', () => {
  const error = new ConfigError([{ object: 'providerConfig', path: 'flux.version', message: 'is unknown' }]);
  expect(describeError(error)).toBe('providerConfig: flux.version is unknown');
});

it("cuts an API server's message and removes secrets, because webhooks choose its words", () => {
  const message = `PATCH deployments a/b: 500 InternalError: webhook says https://user:s3cr3t@a.example.com ${'x'.repeat(100_000)}`;
  const text = describeError(new KubeError(message, 500, 'InternalError'));
  expect(text).toMatch(
    /^PATCH deployments a\/b: 500 InternalError: webhook says https:\/\/\*\*\*@a\.example\.com x+…$/,
  );
  expect(text.length).toBeLessThan(1100);
});

it('returns the place of a parser error instead of its message, which quotes the input', () => {
  const text = describeError(caught(() => JSON.parse('-----BEGIN PRIVATE KEY-----')));
  expect(text).toMatch(/^SyntaxError at /);
  expect(text).not.toContain('BEGIN');
});

it('returns the messages of network and AWS errors', () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { syscall: 'connect' });
  const aws = Object.assign(new Error('The specified queue does not exist.'), { $metadata: {} });
  expect(describeError(refused)).toBe('connect ECONNREFUSED 10.0.0.1:443');
  expect(describeError(aws)).toBe('The specified queue does not exist.');
});

it('returns only the type of a thrown value that is not an Error', () => {
  expect(describeError('password=hunter2')).toBe('A string was thrown');
});
