import { describe, expect, it } from 'vitest';
import { bucket, problems, withTemplates } from '../config.fixtures.ts';
import type { Policy } from './policy.ts';

const judged = (policy: Policy, spec: object) => problems({ ...withTemplates(bucket(spec)), landscape: { policy } });
const only = (...allowedRepositoryUrls: string[]): Policy => ({ allowedRepositoryUrls });
const azure = { provider: 'azure', endpoint: 'https://account.blob.core.windows.net' };
const aws = { provider: 'aws', endpoint: 's3.amazonaws.com' };

describe('a bucket is judged by what Flux reads', () => {
  it.each<[string, object]>([
    ['bucket://s3.example.com/fleet', { provider: 'generic' }],
    ['bucket://s3.example.com/fleet', { endpoint: 's3.example.com:443' }],
    ['bucket://s3.example.com:80/fleet', { insecure: true }],
    ['bucket://s3.example.com:9000/*', { insecure: true, endpoint: 's3.example.com:9000' }],
    ['bucket://s3.amazonaws.com/fleet', aws],
    ['bucket://s3.amazonaws.com/fleet', { ...aws, region: 'eu-central-1' }],
    [
      'bucket://s3.cn-north-1.amazonaws.com.cn/fleet',
      { ...aws, endpoint: 's3.cn-north-1.amazonaws.com.cn', region: 'cn-north-1' },
    ],
    ['bucket://storage.googleapis.com/fleet', { provider: 'gcp', endpoint: 'storage.googleapis.com' }],
    ['bucket://storage.googleapis.com/fleet', { provider: 'gcp' }],
    ['bucket://account.blob.core.windows.net/fleet', azure],
    [
      'bucket://azurite.example.com:10000/account/fleet',
      { ...azure, endpoint: 'https://azurite.example.com:10000/account/' },
    ],
    ['bucket://account.example.com:80/fleet', { ...azure, endpoint: 'http://account.example.com' }],
  ])('allowed by %s: %j', (entry, spec) => {
    expect(judged(only(entry), spec)).toEqual([]);
  });

  it.each(
    Object.entries<[string, object]>({
      'bucketName "bucket://storage.googleapis.com/evil" is not allowed by': [
        'bucket://s3.example.com/**',
        { provider: 'gcp', bucketName: 'evil' },
      ],
      'endpoint "bucket://evil.blob.core.windows.net/fleet" is not allowed by': [
        'bucket://account.blob.core.windows.net/**',
        { ...azure, endpoint: 'https://evil.blob.core.windows.net' },
      ],
      'endpoint "bucket://account.blob.core.windows.net:80/fleet" is not allowed by': [
        'bucket://account.blob.core.windows.net/**',
        { ...azure, endpoint: 'http://account.blob.core.windows.net' },
      ],
      'endpoint "bucket://account.blob.core.windows.net/?x=/fleet" has a form that cannot be compared with': [
        'bucket://account.blob.core.windows.net/**',
        { ...azure, endpoint: 'https://account.blob.core.windows.net/?x=' },
      ],
      'endpoint "bucket://s3.cn-northwest-1.amazonaws.com.cn/fleet" is not allowed by': [
        'bucket://s3.amazonaws.com/fleet',
        { ...aws, region: 'cn-northwest-1' },
      ],
      'endpoint "bucket://s3.amazonaws.com/fleet" is not allowed by': [
        'bucket://s3.cn-north-1.amazonaws.com.cn/fleet',
        { ...aws, endpoint: 's3.cn-north-1.amazonaws.com.cn', region: 'anywhere' },
      ],
      'endpoint "bucket://s3.us-gov-west-1.amazonaws.com/fleet" is not allowed by': [
        'bucket://s3.eu-central-1.amazonaws.com/fleet',
        { endpoint: 's3.eu-central-1.amazonaws.com', region: 'us-gov-west-1' },
      ],
      'endpoint "bucket://s3.example.com/fleet.git" is not allowed by': [
        'bucket://s3.example.com/fleet',
        { bucketName: 'fleet.git' },
      ],
      'endpoint "bucket://s3.example.com/fleet/other" has a form that cannot be compared with': [
        'bucket://s3.example.com/**',
        { bucketName: 'fleet/other' },
      ],
      'endpoint "bucket://s3.example.com/fl%65et" has a form that cannot be compared with': [
        'bucket://s3.example.com/fleet',
        { bucketName: 'fl%65et' },
      ],
      'endpoint "bucket://s3.example.com:80/fleet" is not allowed by': [
        'bucket://s3.example.com/fleet',
        { insecure: true },
      ],
    }),
  )('refused by: %s', (sentence, [entry, spec]) => {
    expect(judged(only(entry), spec)).toEqual([
      expect.stringContaining(`providerConfig: source.template.spec.${sentence} allowedRepositoryUrls`),
    ]);
  });

  it('of Google does not escape where connections must be encrypted', () => {
    const policy = { ...only('bucket://s3.example.com/**'), allowInsecureUrls: false };
    expect(judged(policy, { provider: 'gcp', bucketName: 'evil' })).toHaveLength(1);
  });
});

it('an Azure endpoint over HTTP is refused where connections must be encrypted', () => {
  expect(judged({ allowInsecureUrls: false }, { ...azure, endpoint: 'http://account.blob.core.windows.net' })).toEqual([
    'providerConfig: source.template.spec.endpoint "http://account.blob.core.windows.net" is not allowed by allowInsecureUrls in the policy of this landscape; use https://',
  ]);
  expect(judged({ allowInsecureUrls: false }, azure)).toEqual([]);
});
