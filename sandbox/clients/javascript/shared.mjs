// What the clients have in common: comparing, waiting, and amounts as text.

// patience is for what takes a block or two on a busy machine, in milliseconds.
export const patience = 60000;

export function same(got, want, what) {
  if (got !== want) throw new Error(`${what} is ${got}, want ${want}`);
}

// until asks again until there is an answer.
export async function until(what, ask) {
  for (const end = Date.now() + patience; Date.now() < end; ) {
    const answer = await ask();
    if (answer) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${what}: not after ${patience} ms`);
}

// units reads a decimal as a count of smallest units, and decimal writes one without zeros at its end.
export function units(text, places) {
  const [whole, fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(places, '0'));
}

export function decimal(count, places) {
  const digits = String(count).padStart(places + 1, '0');
  return `${digits.slice(0, -places)}.${digits.slice(-places)}`.replace(/\.?0+$/, '');
}

export const hex = (bytes) => Buffer.from(bytes).toString('hex');
export const fromHex = (text) => Uint8Array.from(Buffer.from(text, 'hex'));
