// Plays a third-party client to the service with a client library that others wrote. It reads requests from standard input, each a
// line of JSON, and answers each by one. The first says where everything is; the answer is the address where the third-party client,
// whose keys are made now, wants to be paid. Others follow by their action:
//
// "pay": pays `payments`, each an address and an amount, or units of the smallest one, in one transaction of a `form`. Answers hashID.
// "check": the final transaction hashID is fetched, read and verified. Answers what it says.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { decimal, units } from './shared.mjs';

// A client has: receiver; pay(payments, form), which resolves to a hash once the payment is in a block; find(hashID), which
// resolves to the bytes of a transaction that the node calls final and successful; read(bytes), which tells what the bytes
// say, {hashID, signers, receiver, amount}, and throws unless they are rightly signed; and balance(), of the receiver.

async function start(request) {
  const { connect } = await import(`./${request.module}.mjs`);
  const load = createRequire(join(request.folder, 'package.json'));
  const client = await connect({ ...request, load, fund: (to, code) => fund(request, to, code) });
  return { client, decimals: request.decimals };
}

// fund has the sandbox pay much more than the third-party client will.
async function fund({ control, currency }, address, code = currency) {
  const answer = await fetch(control + '/pay', { method: 'POST', body: JSON.stringify({ currency: code, address, amount: '50' }) });
  if (!answer.ok) throw new Error(`fund ${address}: ${await answer.text()}`);
}

async function pay({ client, decimals }, { payments, form }) {
  const list = payments.map((p) => ({ address: p.address, units: p.units ? BigInt(p.units) : units(p.amount, decimals) }));
  return { hashID: await client.pay(list, form) };
}

async function check({ client, decimals }, { hashID }) {
  const bytes = await client.find(hashID);
  const seen = client.read(bytes);
  return {
    ...seen,
    amount: decimal(seen.amount, decimals),
    balance: decimal(await client.balance(), decimals),
    ...forge(client, bytes, seen.signers),
  };
}

// forge changes one bit of each byte of a transaction in turn, its signatures' among them: none may still be signed by
// those who signed it. Answers how many forgeries there were, and how many of them were refused.
function forge(client, bytes, signers) {
  let refused = 0;
  for (const place of bytes.keys()) {
    const forged = bytes.slice();
    forged[place] ^= 1;
    if (!isSigned(client, forged, signers)) refused++;
  }
  return { forged: bytes.length, refused };
}

function isSigned(client, bytes, signers) {
  try {
    return client.read(bytes).signers.join() === signers.join();
  } catch {
    return false;
  }
}

const actions = { pay, check };
let player;
for await (const line of createInterface({ input: process.stdin })) {
  let answer;
  try {
    const request = JSON.parse(line);
    if (player) {
      answer = await actions[request.action](player, request);
    } else {
      player = await start(request);
      answer = { receiver: player.client.receiver };
    }
  } catch (error) {
    answer = { error: error.stack || String(error) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
process.exit(0); // some libraries keep connections open
