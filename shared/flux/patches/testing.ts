import type { KubeObject } from '../../kube/resource.ts';
import type { Customisation } from '../deployment.ts';
import { patchSteps } from './apply.ts';

/** Applies the patches of the configuration without a pause. @throws ConfigError */
export function withPatches(objects: KubeObject[], customisation: Customisation): KubeObject[] {
  const steps = patchSteps(objects, customisation);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value.objects;
  }
}
