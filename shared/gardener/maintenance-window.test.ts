import { expect, it } from 'vitest';
import { secondsUntilWindow } from './maintenance-window.ts';

const at = (time: string) => new Date(`2026-01-02T${time}Z`);
const night = { begin: '220000+0100', end: '010000+0100' };

it.each([
  ['20:59:59', 1],
  ['21:00:00', 0],
  ['23:59:59', 0],
  ['00:00:00', 21 * 3600],
  ['12:00:00', 9 * 3600],
])('at %s, the window from 21 to 24 o’clock UTC begins in %i s', (time, seconds) => {
  expect(secondsUntilWindow(night, at(time))).toBe(seconds);
});

it('may pass midnight', () => {
  const window = { begin: '233000+0000', end: '003000+0000' };
  expect(['23:29:00', '23:45:00', '00:15:00', '00:30:00'].map((time) => secondsUntilWindow(window, at(time)))).toEqual([
    60,
    0,
    0,
    23 * 3600,
  ]);
});

it('may be west of Greenwich', () => {
  expect(secondsUntilWindow({ begin: '200000-0500', end: '210000-0500' }, at('00:30:00'))).toBe(1800);
});

it.each([undefined, {}, { begin: '220000+0100' }, { begin: '22:00', end: '23:00' }])('%j is none', (window) => {
  expect(secondsUntilWindow(window, at('12:00:00'))).toBe(0);
});
