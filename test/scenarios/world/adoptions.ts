import { openDistribution } from '../../../shared/flux/distribution.ts';
import { installObjects } from '../../../shared/flux/install.ts';
import { fluxInstall } from '../../../shared/flux/testing.ts';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { type Marks, tools } from '../foreign.ts';
import type { Lifecycle } from './lifecycles.ts';
import { both, fluxWorks, reconcile, type Step, template } from './steps.ts';

/**
 * Returns Shoots in which others have installed Flux, and whose configuration then asks to take it over.
 * @param distribution the folder of the release that they have installed
 */
export async function adoptions(distribution: string, version: string): Promise<Lifecycle[]> {
  const objects = installObjects(await openDistribution(distribution).release(version), fluxInstall());
  const install =
    ({ labels, annotations }: Marks): Step =>
    ({ shoot }) => {
      for (const { metadata, ...object } of objects) {
        const marked = {
          labels: { ...metadata.labels, ...labels },
          annotations: { ...metadata.annotations, ...annotations },
        };
        const whole = { ...object, metadata: { ...metadata, ...marked } } as KubeObject;
        if (object.kind === 'Namespace') shoot.objects.ensureNamespace(metadata.name);
        else shoot.objects.create(whole);
      }
    };
  const config = template('main');
  const lifecycle = (tool: string, marks: Marks): Lifecycle => ({
    name: `a Flux of ${tool} is taken over`,
    setup: [both(install(marks), fluxWorks), reconcile({ providerConfig: config })],
    steps: [reconcile({ providerConfig: { ...config, adopt: true } })],
  });
  return Object.entries(tools).map(([tool, { marks }]) => lifecycle(tool, marks));
}
