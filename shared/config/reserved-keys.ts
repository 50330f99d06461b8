/** True for a label or annotation in a domain of Gardener, whose components obey such keys. */
export function isReservedForGardener(key: string): boolean {
  const domain = key.slice(0, Math.max(0, key.indexOf('/'))).toLowerCase();
  return domain === 'gardener.cloud' || domain.endsWith('.gardener.cloud');
}
