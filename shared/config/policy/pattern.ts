import type { Check } from '../checks.ts';
import { quote } from '../quote.ts';
import {
  comparedLast,
  defaultPort,
  hostAndPort,
  IMAGE,
  type Location,
  locationOf,
  partsOf,
  segmentsOf,
} from './location.ts';

/** An entry of an operator's list, parsed. */
export interface Pattern {
  /** Absent: every scheme. */
  scheme: string | undefined;
  host: string;
  /** Absent: the default port of the scheme; `*`: every port. */
  port: string | undefined;
  segments: string[];
  /** True: also everything below. */
  below: boolean;
}

const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_*-]+(\.[a-z0-9_*-]+)*)$/;

/**
 * Parses an entry: `[scheme://]host[:port][/path]`, where `*` stands for any text in the host or in one segment of the
 * path, the port `*` for every port, and a last segment `**` for everything below.
 */
export function patternOf(entry: string, defaultScheme?: string): Pattern | undefined {
  const parts = partsOf(entry);
  if (parts === undefined || parts.authority.includes('@') || /[\s\\?#]/.test(entry)) return undefined;
  const scheme = parts.scheme ?? defaultScheme;
  const { host, port } = hostAndPort(parts.authority.toLowerCase());
  const path = parts.path.endsWith('/**') || parts.path === '**' ? parts.path.slice(0, -2) : parts.path;
  const segments = segmentsOf(path);
  const isPort = port === undefined || port === '*' || /^[0-9]{1,5}$/.test(port);
  if (!HOST.test(host) || !isPort || segments === undefined || segments.some((one) => one.includes('**'))) {
    return undefined;
  }
  const below = path !== parts.path;
  const plain = host.includes('*') ? undefined : locationOf(`${scheme ?? 'https'}://${parts.authority}`);
  // Docker Hub has several names.
  if (plain === undefined || (scheme !== IMAGE && scheme !== 'oci')) return { scheme, host, port, segments, below };
  return { scheme, host: plain.host, port, segments: [...plain.segments, ...segments], below };
}

/** By default scheme, then by list: the lists of a policy never change, and one list may serve as two. */
const parsed = new Map<string | undefined, WeakMap<readonly string[], Pattern[]>>();

/** Parses the entries of a list once. The schema of the policy has checked them. */
export function patternsOf(entries: readonly string[], defaultScheme?: typeof IMAGE): Pattern[] {
  const lists = parsed.get(defaultScheme) ?? new WeakMap<readonly string[], Pattern[]>();
  parsed.set(defaultScheme, lists);
  const patterns = lists.get(entries) ?? entries.flatMap((entry) => patternOf(entry, defaultScheme) ?? []);
  lists.set(entries, patterns);
  return patterns;
}

/** Returns whether one of the patterns includes a location. Linear in the lengths of both. */
export function isIncluded(location: Location, patterns: readonly Pattern[]): boolean {
  return patterns.some((pattern) => includes(pattern, location));
}

function includes({ scheme, host, port, segments, below }: Pattern, location: Location): boolean {
  if (scheme !== undefined && scheme !== location.scheme) return false;
  if (port !== '*' && (port ?? defaultPort(location.scheme)) !== location.port) return false;
  const isLong = below ? location.segments.length >= segments.length : location.segments.length === segments.length;
  if (!isLong || !matches(host, location.host)) return false;
  const last = location.segments.length - 1;
  return segments.every((segment, index) =>
    matches(index === last ? comparedLast(location.scheme, segment) : segment, location.segments[index] ?? ''),
  );
}

/**
 * Matches a text in which `*` stands for any text. The parts between the stars are searched once each, from where the
 * one before has ended, so nothing is tried twice.
 */
export function matches(pattern: string, text: string): boolean {
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return pattern === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Checks an entry of `allowedRepositoryUrls`. */
export const urlPattern: Check = (entry) =>
  patternOf(entry) === undefined
    ? `${quote(entry)} is not a pattern for URLs; use a form like https://git.example.com/team/** or ssh://*.example.com/**`
    : undefined;

/** Checks an entry of `allowedRegistries`. */
export const registryPattern: Check = (entry) =>
  entry.includes('://') || patternOf(entry, IMAGE) === undefined
    ? `${quote(entry)} is not a pattern for image prefixes; use a form like registry.example.com/fluxcd or registry.example.com/**`
    : undefined;
