import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const tools = join(import.meta.dirname, '../../tools');

/** The go.mod that names the version of each module. */
const homes = { eventing: 'knative', serving: 'knative-crds' };

/** Returns the folder of a module's sources, which hold its CRDs and the ConfigMaps of its system. */
export async function moduleFolder(name: keyof typeof homes): Promise<string> {
  const options = { cwd: join(tools, homes[name]), env: { ...process.env, GOWORK: 'off' } };
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', `knative.dev/${name}`], options);
  return JSON.parse(stdout).Dir;
}

/** Returns the files of the CRDs of Knative Eventing with its in-memory channel. */
export async function eventingCrds(): Promise<string[]> {
  const module = await moduleFolder('eventing');
  const core = ['broker', 'trigger', 'eventpolicy', 'eventtype', 'subscription', 'channel', 'sinkbindings'];
  return [
    ...core.map((name) => join(module, 'config/core/resources', `${name}.yaml`)),
    join(module, 'config/channels/in-memory-channel/resources/in-memory-channel.yaml'),
  ];
}

/** Returns the file of the CRD of Knative Services. */
export async function servingCrds(): Promise<string[]> {
  return [join(await moduleFolder('serving'), 'config/core/300-resources/service.yaml')];
}
