import { asString, type JsonObject } from '../values.ts';
import { BUCKET, hostAndPort, type Location, locationOf, partsOf } from './location.ts';

/** The bucket that Flux reads for a Bucket, and the field that decides it. */
export interface ReadBucket {
  field: 'endpoint' | 'bucketName';
  /** `bucket://ENDPOINT/NAME`, as sentences show it. */
  url: string;
  /** Undefined: readers could differ in what it leads to. */
  location: Location | undefined;
}

/** Clients escape other characters of a name, or send them as they are. */
const NAME = /^[\w$][\w.$:-]*$/;

/** Returns which bucket Flux reads: each provider takes its address from other fields. */
export function readBucket(spec: JsonObject): ReadBucket {
  const name = asString(spec.bucketName) ?? '';
  const url = `${BUCKET}://${addressOf(spec)}/${name}`;
  const field = spec.provider === 'gcp' ? 'bucketName' : 'endpoint';
  return { field, url, location: NAME.test(name) ? locationOf(url) : undefined };
}

function addressOf(spec: JsonObject): string {
  const endpoint = asString(spec.endpoint) ?? '';
  if (spec.provider === 'gcp') return 'storage.googleapis.com';
  if (spec.provider === 'azure') return azureAddress(endpoint);
  // All other providers are read with a client for S3.
  const host = amazonHost(endpoint, asString(spec.region) ?? '') ?? endpoint;
  return spec.insecure === undefined || spec.insecure === false ? host : withoutTls(host);
}

/** Azure's endpoint is the URL of an account; its containers are below it. */
function azureAddress(endpoint: string): string {
  const [, scheme, rest = ''] = /^(https?):\/\/(.*)$/s.exec(endpoint) ?? [];
  if (scheme === undefined) return endpoint;
  const address = rest.replace(/\/$/, '');
  return scheme === 'http' ? withoutTls(address) : address;
}

function withoutTls(address: string): string {
  const [authority = '', ...path] = address.split('/');
  const withPort = hostAndPort(authority).port === undefined ? `${authority}:80` : authority;
  return [withPort, ...path].join('/');
}

/** The regions outside the global namespace of Amazon's buckets: others there may own a bucket of the same name. */
const SEPARATE = new Map([
  ['cn-north-1', 'amazonaws.com.cn'],
  ['cn-northwest-1', 'amazonaws.com.cn'],
  ['us-gov-east-1', 'amazonaws.com'],
  ['us-gov-west-1', 'amazonaws.com'],
  ['us-iso-east-1', 'c2s.ic.gov'],
  ['us-iso-west-1', 'c2s.ic.gov'],
  ['us-isob-east-1', 'c2s.ic.gov'],
]);

/**
 * For Amazon's endpoints the client replaces the host by that of `region`; an unknown one is in the global namespace.
 * @returns undefined if the endpoint's host has the namespace that is read
 */
function amazonHost(endpoint: string, region: string): string | undefined {
  const host = hostAndPort(partsOf(endpoint)?.authority.toLowerCase() ?? '').host.replace(/\.$/, '');
  const suffix = ['amazonaws.com', 'amazonaws.com.cn', 'c2s.ic.gov'].find((one) => host.endsWith(`.${one}`));
  if (suffix === undefined) return undefined;
  const written = [...SEPARATE.keys()].find((one) => host.includes(one));
  const read = region === '' ? written : region;
  const separate = read === undefined ? undefined : SEPARATE.get(read);
  if (separate !== undefined) {
    return read === written && suffix === separate ? undefined : `s3.${read}.${separate}`;
  }
  return written === undefined && suffix === 'amazonaws.com' ? undefined : 's3.amazonaws.com';
}
