import { join } from 'node:path';
import type { ApiServer } from '../cluster/api-server.ts';
import { installCrds } from '../cluster/crds.ts';

/** Installs stand-ins for the resources with which gardener-apiserver registers extensions. */
export async function installRegistrationKinds(garden: ApiServer): Promise<void> {
  await installCrds(garden, [join(import.meta.dirname, 'registration-kinds.yaml')]);
}

/** Installs stand-ins for kinds of other projects that the charts can use. */
export async function installOptionalKinds(server: ApiServer): Promise<void> {
  await installCrds(server, [join(import.meta.dirname, 'optional-kinds.yaml')]);
}
