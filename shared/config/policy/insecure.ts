import { quote } from '../quote.ts';
import { asObject, asString, type JsonObject } from '../values.ts';
import { hostAndPort, partsOf } from './location.ts';

/** Hosts that Flux's OCI client also tries over HTTP, as go-containerregistry decides it. */
const OVER_HTTP = [
  /^localhost$/,
  /\.local(host)?$/,
  /^127\./,
  /^\[::1\]$/,
  /^10\./,
  /^192\.168\./,
  /^172\.(1[6-9]|2[0-9]|3[01])\./,
];

/** A field that permits a connection without encryption, and what to write instead. */
export interface InsecureField {
  /** The path in `spec`. */
  path: string;
  /** As a sentence shows it. */
  value: string;
  remedy: string;
}

/** Returns the fields of a source by which it may be read without encryption. */
export function insecureFields(kind: string, spec: JsonObject): InsecureField[] {
  const url = asString(spec.url) ?? '';
  const stsEndpoint = asString(asObject(spec.sts)?.endpoint) ?? '';
  const fields: InsecureField[] = [];
  if (/^http:/i.test(url)) fields.push({ path: 'url', value: quote(url), remedy: 'use https:// or ssh://' });
  if ((kind === 'OCIRepository' || (kind === 'HelmRepository' && url.startsWith('oci:'))) && isOverHttp(url)) {
    fields.push({
      path: 'url',
      value: quote(url),
      remedy: 'use a registry with a public name, which is read over HTTPS only',
    });
  }
  const endpoint = asString(spec.endpoint) ?? '';
  if (kind === 'Bucket' && /^http:/i.test(endpoint)) {
    fields.push({ path: 'endpoint', value: quote(endpoint), remedy: 'use https://' });
  }
  const address = asString(spec.address) ?? '';
  if (kind === 'Provider' && /^http:/i.test(address)) {
    fields.push({ path: 'address', value: quote(address), remedy: 'use https://' });
  }
  const image = asString(spec.image) ?? '';
  if (kind === 'ImageRepository' && isOverHttp(`image://${image}`)) {
    fields.push({
      path: 'image',
      value: quote(image),
      remedy: 'use a registry with a public name, which is read over HTTPS only',
    });
  }
  if (spec.insecure !== undefined && spec.insecure !== false) {
    fields.push({ path: 'insecure', value: String(spec.insecure), remedy: 'remove it' });
  }
  if (/^http:/i.test(stsEndpoint)) {
    fields.push({ path: 'sts.endpoint', value: quote(stsEndpoint), remedy: 'use https://' });
  }
  return fields;
}

function isOverHttp(url: string): boolean {
  const authority = partsOf(url)?.authority ?? '';
  const host = hostAndPort(authority).host.toLowerCase().replace(/\.$/, '');
  return OVER_HTTP.some((pattern) => pattern.test(host));
}
