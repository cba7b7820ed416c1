'use strict';
// Runs transactions in LiteSVM. A request is a line of JSON on standard input, its answer a line on standard output.
// Bytes are in base 64 and lamports in decimal, because they may exceed what JSON numbers hold exactly.
const fs = require('node:fs');
const path = require('node:path');
const readline = require('node:readline');

const modules = path.join(process.argv[1], 'node_modules');

// The library is a package for each platform; the one that loads is the one for this platform.
function load() {
  let last = new Error(`no litesvm in ${modules}`);
  for (const name of fs.readdirSync(modules).filter((n) => n.startsWith('litesvm-'))) {
    try { return require(path.join(modules, name)); } catch (err) { last = err; }
  }
  throw last;
}

const lib = load();

// TransactionError and InstructionError by their numbers, in the order of the library's declarations.
const transactionErrors = ('AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound InsufficientFundsForFee ' +
  'InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep MissingSignatureForFee InvalidAccountIndex ' +
  'SignatureFailure InvalidProgramForExecution SanitizeFailure ClusterMaintenance AccountBorrowOutstanding ' +
  'WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount WouldExceedMaxAccountCostLimit ' +
  'WouldExceedAccountDataBlockLimit TooManyAccountLocks AddressLookupTableNotFound InvalidAddressLookupTableOwner ' +
  'InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount WouldExceedMaxVoteCostLimit ' +
  'WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded ' +
  'InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled').split(' ');
const instructionErrors = ('GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall ' +
  'InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount ' +
  'UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified ReadonlyLamportChange ' +
  'ReadonlyDataModified DuplicateAccountIndex ExecutableModified RentEpochModified NotEnoughAccountKeys ' +
  'AccountDataSizeChanged AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding DuplicateAccountOutOfSync ' +
  'InvalidError ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt UnsupportedProgramId ' +
  'CallDepth MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc ' +
  'ComputationalBudgetExceeded PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete ' +
  'ProgramFailedToCompile Immutable IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow ' +
  'UnsupportedSysvar IllegalOwner MaxAccountsDataAllocationsExceeded MaxAccountsExceeded ' +
  'MaxInstructionTraceLengthExceeded BuiltinProgramsMustConsumeComputeUnits BorshIoError').split(' ');

// A name, or an object with one member: the form in which nodes answer a TransactionError.
function transactionError(err) {
  if (typeof err === 'number') return transactionErrors[err] ?? `unknown error ${err}`;
  switch (err.constructor.name) {
    case 'TransactionErrorInstructionError': return { InstructionError: [err.index, instructionError(err.err())] };
    case 'TransactionErrorDuplicateInstruction': return { DuplicateInstruction: err.index };
    case 'TransactionErrorInsufficientFundsForRent': return { InsufficientFundsForRent: { account_index: err.accountIndex } };
    case 'TransactionErrorProgramExecutionTemporarilyRestricted':
      return { ProgramExecutionTemporarilyRestricted: { account_index: err.accountIndex } };
  }
  return err.toString();
}

function instructionError(err) {
  if (typeof err === 'number') return instructionErrors[err] ?? `unknown error ${err}`;
  return err.constructor.name === 'InstructionErrorCustom' ? { Custom: err.code } : { BorshIoError: err.msg };
}

const bytes = (text) => Buffer.from(text ?? '', 'base64');

let vm;

// With a ledger the machine itself refuses what it has processed and blockhashes other than its newest; without one it
// leaves both to the caller.
function open({ ledger }) {
  vm = new lib.LiteSvm();
  vm.setBlockhashCheck(ledger);
  if (!ledger) vm.setTransactionHistory(0n);
  return {};
}

function setAccount(a) {
  vm.setAccount(bytes(a.key), new lib.Account(BigInt(a.lamports), bytes(a.data), bytes(a.owner), a.executable, 0n));
}

function getAccount(key) {
  const a = vm.getAccount(bytes(key));
  if (a === null) return { key, lamports: '0', owner: Buffer.alloc(32).toString('base64'), data: '', executable: false };
  return {
    key, lamports: a.lamports().toString(), owner: Buffer.from(a.owner()).toString('base64'),
    data: Buffer.from(a.data()).toString('base64'), executable: a.executable(),
  };
}

function read({ keys }) { return { accounts: (keys ?? []).map(getAccount) }; }

function set({ accounts }) {
  (accounts ?? []).forEach(setAccount);
  return {};
}

function send({ raw, accounts, keys, unsigned }) {
  set({ accounts });
  vm.setSigverify(!unsigned);
  const result = vm.sendVersionedTransaction(bytes(raw));
  const failed = result instanceof lib.FailedTransactionMetadata;
  const meta = failed ? result.meta() : result;
  return {
    err: failed ? transactionError(result.err()) : null, units: Number(meta.computeUnitsConsumed()), logs: meta.logs(), ...read({ keys }),
  };
}

function blockhash({ expire }) {
  if (expire) vm.expireBlockhash();
  return { blockhash: vm.latestBlockhash() };
}

const operations = { open, read, set, send, blockhash };

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let answer;
  try {
    const request = JSON.parse(line);
    answer = operations[request.op](request);
  } catch (err) {
    answer = { failed: String(err?.message ?? err) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
});
