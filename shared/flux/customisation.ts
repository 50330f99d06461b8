import type { Origins } from '../config/origins.ts';
import type { Policy } from '../config/policy/policy.ts';
import type { FluxInstall } from '../config/types.ts';
import type { KubeObject } from '../kube/resource.ts';

/** What the objects of an installation are changed with. */
export interface Customisation {
  install: FluxInstall;
  /** The Flux release, for example `v2.9.4`. */
  version: string;
  /** Where the user sets each option. */
  origins: Origins;
  /** The landscape's policy, which judges the result. */
  policy?: Policy | undefined;
}

/** Changes the objects of an installation beyond what `flux install` can. @throws ConfigError */
export type Customise = (objects: KubeObject[], customisation: Customisation) => KubeObject[];
