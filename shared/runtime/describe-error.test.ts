import { describe, expect, it } from 'vitest';
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

describe('what is told about an error', () => {
  it('is the sentence of our own errors', () => {
    const error = new ConfigError([{ object: 'providerConfig', path: 'flux.version', message: 'is unknown' }]);
    expect(describeError(error)).toBe('providerConfig: flux.version: is unknown');
  });

  it('is of an API server only so much, and no secret: webhooks choose its words', () => {
    const message = `PATCH deployments a/b: 500 InternalError: webhook says https://user:s3cr3t@a.example.com ${'x'.repeat(100_000)}`;
    const text = describeError(new KubeError(message, 500, 'InternalError'));
    expect(text).toMatch(
      /^PATCH deployments a\/b: 500 InternalError: webhook says https:\/\/\*\*\*@a\.example\.com x+…$/,
    );
    expect(text.length).toBeLessThan(1100);
  });

  it('is never what a parser quotes, but where it happened', () => {
    const text = describeError(caught(() => JSON.parse('-----BEGIN PRIVATE KEY-----')));
    expect(text).toMatch(/^SyntaxError at /);
    expect(text).not.toContain('BEGIN');
  });

  it('is the message of the network and of AWS', () => {
    const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { syscall: 'connect' });
    const aws = Object.assign(new Error('The specified queue does not exist.'), { $metadata: {} });
    expect(describeError(refused)).toBe('connect ECONNREFUSED 10.0.0.1:443');
    expect(describeError(aws)).toBe('The specified queue does not exist.');
  });

  it('is only the type of what is no error', () => {
    expect(describeError('password=hunter2')).toBe('A string was thrown');
  });
});
