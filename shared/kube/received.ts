import type { Socket } from 'node:net';

/**
 * Counts what a connection receives from now on, also what HTTP's parser keeps to itself: informational answers, empty
 * lines, the lengths of chunks.
 * @param most asked whenever something was received and parsed
 * @param exceeded called once
 * @returns a function that ends the counting
 */
export function limitReceived(socket: Socket, most: () => number, exceeded: () => void): () => void {
  let received = 0;
  let isOver = false;
  const end = () => {
    // A listener that is removed while the event is emitted is still called.
    isOver = true;
    socket.off('data', check);
  };
  const check = (piece: Buffer) => {
    received += piece.length;
    if (isOver || received <= most()) return;
    end();
    exceeded();
  };
  socket.on('data', check);
  return end;
}
