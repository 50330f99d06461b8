import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Normalizes a name or address, as certificates have it and for comparisons. Returns undefined for anything else. */
export function hostOf(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (isIPv6(text)) return addressOf(text);
  // These characters would be read as parts of a URL.
  if (/[\s/?#@:%\\]/.test(text)) return undefined;
  const name = domainToASCII(text).replace(/\.$/, '');
  const labels = name.split('.');
  // A name that ends with a number is a malformed address.
  const isName = labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '');
  return isName && name.length <= 253 ? name : undefined;
}

/** Shortens an IPv6 address, because certificates show all eight groups. An address with a zone is not valid here. */
function addressOf(text: string): string | undefined {
  const url = `http://[${text}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
}
