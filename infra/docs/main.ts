import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generatedFiles } from './generated.ts';

for (const [file, text] of await generatedFiles()) {
  const isCurrent = (await readFile(file, 'utf8').catch(() => '')) === text;
  await mkdir(new URL('./', file), { recursive: true });
  if (!isCurrent) await writeFile(file, text);
  process.stdout.write(`${fileURLToPath(file)} ${isCurrent ? 'is up to date' : 'written'}\n`);
}
