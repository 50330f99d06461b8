import { describe, expect, it } from 'vitest';
import { copiedLabels } from './copied-contents.ts';

const ANNOTATION = 'gardener-extension-shoot-flux/copy-labels';
const labelsOf = (labels: Record<string, string>, asks?: string) =>
  copiedLabels({
    ...{ apiVersion: 'v1', kind: 'Secret' },
    metadata: { name: 'ref-git', labels, ...(asks !== undefined && { annotations: { [ANNOTATION]: asks } }) },
  });

describe('copiedLabels', () => {
  it.each(['true', 'True', 'TRUE', 't', 'T', '1'])('returns the labels if the annotation is %s', (asks) => {
    expect(labelsOf({ team: 'blue' }, asks)).toEqual({ team: 'blue' });
  });

  it.each(['false', '', 'yes', '0'])('returns nothing if the annotation is "%s"', (asks) => {
    expect(labelsOf({ team: 'blue' }, asks)).toBeUndefined();
  });

  it('returns nothing without the annotation', () => {
    expect(labelsOf({ team: 'blue' })).toBeUndefined();
  });

  it('leaves out the labels of Gardener', () => {
    const ofGardener = {
      'resources.gardener.cloud/managed-by': 'gardener',
      'shoot.gardener.cloud/no-cleanup': 'true',
      'gardener.cloud/role': 'x',
    };
    expect(labelsOf({ ...ofGardener, 'example.com/gardener.cloud': 'stays' }, 'true')).toEqual({
      'example.com/gardener.cloud': 'stays',
    });
    expect(labelsOf(ofGardener, 'true')).toBeUndefined();
  });
});
