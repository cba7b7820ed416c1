// Signs the order of a withdrawal, with nothing but Node's own crypto, and prints the text and the header, or sends them.
//
//   node order.mjs order-key.pem payment.json            prints {"text": …, "signature": …}
//   node order.mjs order-key.pem payment.json --send     sends it: URL, KEY and SECRET are in the environment
//
// payment.json has the lines of the text, and amount and currency if it is sent. Take instance, chain, asset and the
// decimals behind units from what the operator gave you, never from the service: it could be in other hands.
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const names = ['instance', 'account', 'order', 'requester', 'chain', 'asset', 'pay', 'tag', 'units', 'max_fee', 'created',
  'expires']

// orderText writes the text of an order. What is missing is "-".
export function orderText(order) {
  const lines = names.map((name) => {
    const value = String(order[name] ?? '-')
    if (!/^[\x21-\x7e]+$/.test(value)) throw new Error(`${name} is ${JSON.stringify(value)}`)
    return `${name}: ${value}\n`
  })
  return 'bursar-order/1\n' + lines.join('')
}

// keyID is the ID of a key: a part of the hash of its public half.
export function keyID(privateKey) {
  const der = createPublicKey(privateKey).export({ type: 'spki', format: 'der' })
  return createHash('sha256').update(der).digest('hex').slice(0, 32)
}

// signOrder returns the value of the header Bursar-Signature.
export function signOrder(privateKey, text) {
  const signature = privateKey.asymmetricKeyType === 'ed25519'
    ? sign(null, Buffer.from(text), privateKey)
    : sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${keyID(privateKey)}:${signature.toString('base64')}`
}

async function send(order, text, signature) {
  const { URL: url, KEY: key, SECRET: secret } = process.env
  const address = order.tag === undefined || order.tag === '-' ? order.pay : `${order.pay}:${order.tag}`
  const answer = await fetch(`${url}/api/v1/account/withdraw`, {
    method: 'POST',
    headers: { 'X-API-KEY': key, 'X-API-SECRET': secret, 'Content-Type': 'application/json', 'Bursar-Signature': signature },
    body: JSON.stringify({ currency: order.currency, amount: order.amount, address, order: text }),
  })
  console.log(await answer.text())
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [keyFile, file, mode] = process.argv.slice(2)
  const privateKey = createPrivateKey(readFileSync(keyFile))
  const order = JSON.parse(readFileSync(file, 'utf8'))
  const text = orderText(order)
  const signature = signOrder(privateKey, text)
  if (mode === '--send') await send(order, text, signature)
  else console.log(JSON.stringify({ text, signature }))
}
