import type { KubeApi } from '@shoot-flux/landscape/kube-api';
import { afterAll, expect } from 'vitest';
import { SUMMARY, summaryOf } from '../../shared/gardener/status-map.ts';
import { projectStatusSuite } from '../scenarios/project/suite.ts';
import { startApisWithShippedRights } from './embedded-apis.ts';

const SHOOTS = 200;
let versions = 0;
const wrong: string[] = [];

/** Compares every version of flux-status with the many Shoots: there is none in which the summary is old. */
function observe({ objects }: KubeApi): void {
  objects.onChange('v1', 'ConfigMap', ({ object }) => {
    const { [SUMMARY]: summary = '', ...lines } = (object.data ?? {}) as Record<string, string>;
    if (object.metadata.name !== 'flux-status' || !('s0' in lines)) return;
    versions++;
    if (summary !== summaryOf(lines)) wrong.push(`${summary}, but ${summaryOf(lines)}`);
  });
}

projectStatusSuite('the status of a project', () => startApisWithShippedRights(observe), SHOOTS);

afterAll(() => {
  expect(wrong).toEqual([]);
  expect(versions).toBeGreaterThan(SHOOTS / 2);
});
