import { expect, test } from 'vitest';
import { withFlags } from './deployment.ts';

test('changes flags in their position', () => {
  const args = ['--log-encoding=json', '--watch-all-namespaces', '--log-level=info', '--events-addr=http://there./'];
  const flags = { 'events-addr': '', 'watch-all-namespaces': 'false', 'log-level': 'debug' };
  expect(withFlags(args, flags)).toEqual([
    ...['--log-encoding=json', '--watch-all-namespaces=false', '--log-level=debug', '--events-addr='],
  ]);
  expect(args[1]).toBe('--watch-all-namespaces');
});

test('appends missing flags and keeps flags without a new value', () => {
  const flags = { 'events-addr': undefined, 'watch-all-namespaces': 'true', 'log-level': 'info' };
  expect(withFlags(['--events-addr=x', '--log-level-more=1'], flags)).toEqual([
    ...['--events-addr=x', '--log-level-more=1', '--watch-all-namespaces=true', '--log-level=info'],
  ]);
});
