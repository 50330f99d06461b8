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

/** What the options of a user make of an installation. */
export interface Customised {
  objects: KubeObject[];
  /** How many characters of JSON the patches have added to them; negative where they have removed more. */
  added: number;
}
