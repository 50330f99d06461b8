import { isIPv4, isIPv6 } from 'node:net';
import { domainToASCII } from 'node:url';

const LABEL = /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/;

/**
 * A name or address in the one form that certificates are made for and compared by: lower case, international names as
 * they travel, the shortest form of an IPv6 address. Undefined for anything else.
 */
export function hostOf(text: string): string | undefined {
  if (isIPv4(text)) return text;
  if (isIPv6(text)) return addressOf(text);
  // These belong to URLs, and would be read as such.
  if (/[\s/?#@:%\\]/.test(text)) return undefined;
  const name = domainToASCII(text).replace(/\.$/, '');
  const labels = name.split('.');
  // A name that ends with a number is an address that is written wrong.
  const isName = labels.every((label) => LABEL.test(label)) && !/^\d+$/.test(labels.at(-1) ?? '');
  return isName && name.length <= 253 ? name : undefined;
}

/** A certificate shows all eight groups, people write fewer. The zone of an address is this machine's own. */
function addressOf(text: string): string | undefined {
  const url = `http://[${text}]`;
  return URL.canParse(url) ? new URL(url).hostname.slice(1, -1) : undefined;
}
