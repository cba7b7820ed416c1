// Reads payment links with libraries that others wrote: a list of links in, what each says out, both as JSON.

import * as bip21 from 'bip21';
import { getAddress } from 'ethers';
import { parse } from 'eth-url-parser';
import { parseURL } from '@solana/pay';
import { TronWeb } from 'tronweb';
import { isValidClassicAddress } from 'xrpl';
import { readFileSync } from 'node:fs';

const bip = (scheme) => (link) => {
  const { address, options } = bip21.decode(link, scheme);
  return { address, amount: String(options.amount ?? ''), label: options.label ?? '' };
};

const readers = {
  bitcoin: bip('bitcoin'),
  litecoin: bip('litecoin'),
  ethereum: (link) => {
    const { target_address, chain_id, function_name, parameters } = parse(link);
    const { address, uint256, value } = parameters ?? {};
    if (!function_name) return { address: getAddress(target_address), chain: chain_id, units: value };
    if (function_name !== 'transfer') throw new Error(`it calls ${function_name}`);
    return { address: getAddress(address), contract: getAddress(target_address), chain: chain_id, units: uint256 };
  },
  solana: (link) => {
    const { recipient, amount, splToken, label } = parseURL(link);
    return {
      address: recipient.toBase58(),
      amount: amount?.toFixed(),
      contract: splToken?.toBase58(),
      label,
    };
  },
  xrpl: (link) => {
    const url = new URL(link);
    if (!isValidClassicAddress(url.host)) throw new Error(`${url.host} is no address`);
    return { address: url.host, amount: url.searchParams.get('amount'), tag: url.searchParams.get('dt') };
  },
  tron: (link) => {
    const url = new URL(link);
    if (!TronWeb.isAddress(url.pathname)) throw new Error(`${url.pathname} is no address`);
    return { address: url.pathname, amount: url.searchParams.get('amount') };
  },
};

const answers = JSON.parse(readFileSync(0, 'utf8')).map((link) => {
  try {
    return readers[link.slice(0, link.indexOf(':'))](link);
  } catch (error) {
    return { error: String(error) };
  }
});
console.log(JSON.stringify(answers));
