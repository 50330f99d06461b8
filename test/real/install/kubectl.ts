import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../shared/kube/resource.ts';
import { applyObjects, deleteObjects } from './objects.ts';

/** The part of kubectl that the page of this installation uses, for machines without it. Anything else is an error. */

const { clusters, users } = parse(await readFile(process.env.KUBECONFIG ?? '', 'utf8'));
const ca = Buffer.from(clusters[0].cluster['certificate-authority-data'], 'base64').toString();
const server = { url: clusters[0].cluster.server, ca, adminToken: users[0].user.token };
const objects = async () =>
  parseAllDocuments(await text(process.stdin))
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null);

const command = process.argv.slice(2).join(' ');
const [, name] = /^create namespace (\S+)$/.exec(command) ?? [];
if (name !== undefined) await applyObjects(server, [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }]);
else if (command === 'apply --server-side -f -') await applyObjects(server, await objects());
else if (command === 'delete -f -') await deleteObjects(server, await objects());
else throw new Error(`kubectl ${command} is not understood`);
