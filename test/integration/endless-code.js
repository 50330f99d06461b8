import { isMainThread } from 'node:worker_threads';

// Preloaded by the process under test. JavaScript, like what the process itself starts with. In the thread of the functions,
// objects with these words make the parser behave as code with a fault would.
const { parse } = JSON;
if (!isMainThread) {
  JSON.parse = (text, reviver) => {
    if (String(text).includes('"never-ends"')) for (;;);
    if (String(text).includes('"takes-all-memory"'))
      for (const kept = []; ; ) kept.push(new Array(1_000_000).fill(1.5));
    return parse(text, reviver);
  };
}
