import { describe, expect, it, test } from 'vitest';
import { checkVersion, notesOf } from './notes.ts';

const changelog = `# Changelog

## [Unreleased]

- Next.

## [0.1.0] - 2026-12-01

### Added

- Flux.

## [0.0.1] - 2026-11-01
`;

describe('the notes of a release', () => {
  it('are its section of the changelog', () => {
    expect(notesOf(changelog, '0.1.0')).toBe('# shoot-flux 0.1.0\n\n### Added\n\n- Flux.\n');
  });

  it('of a candidate are what is unreleased', () => {
    expect(notesOf(changelog, '0.2.0-rc.1')).toBe('# shoot-flux 0.2.0-rc.1\n\n- Next.\n');
  });

  it('must have been written', () => {
    expect(() => notesOf(changelog, '0.2.0')).toThrow('CHANGELOG.md has no section [0.2.0]; rename the section');
  });
});

test.each(['v0.1.0', '0.1', '0.1.0+build', '', '../0.1.0'])('%j is not a version', (version) => {
  expect(() => checkVersion(version)).toThrow('is not a version; write it like 0.1.0');
});
