// Uses a node as a wallet does, through TronWeb, and prints what it saw as one line of JSON.
// Arguments: TronWeb's folder, the node's URL, a private key with coins and tokens, the token, a transaction to look at.
const [folder, url, privateKey, token, made] = process.argv.slice(2);
const { TronWeb } = require(folder);

const patience = 20000; // milliseconds

async function until(ask) {
  for (const end = Date.now() + patience; Date.now() < end; ) {
    const answer = await ask();
    if (answer && Object.keys(answer).length > 0) return answer;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('nothing came: ' + ask);
}

async function main() {
  const web = new TronWeb({ fullHost: url, privateKey });
  const self = web.defaultAddress.base58;
  const other = (await web.createAccount()).address.base58;
  const seen = { self };

  const sent = await web.trx.sendTransaction(other, 1234567);
  seen.sent = sent.result === true;
  seen.fee = (await until(() => web.trx.getTransactionInfo(sent.txid))).fee; // solidified
  seen.balance = await web.trx.getBalance(other);

  const contract = await web.contract().at(token);
  seen.symbol = await contract.symbol().call();
  seen.decimals = Number(await contract.decimals().call());
  const id = await contract.transfer(other, 400).send({ feeLimit: 50000000 });
  const info = await until(() => web.trx.getUnconfirmedTransactionInfo(id));
  seen.result = info.receipt.result;
  seen.events = info.log.length;
  seen.tokens = Number(await contract.balanceOf(other).call());

  const again = await web.trx.sendRawTransaction(sent.transaction);
  seen.again = again.code;

  // The adapter's transaction: TronWeb encodes its JSON anew, and finds the same bytes, id and signer.
  const tx = await until(() => web.trx.getTransaction(made));
  seen.encoded = web.utils.transaction.txCheck(tx);
  seen.signer = web.address.fromHex(web.trx.ecRecover(tx));
  console.log(JSON.stringify(seen));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
