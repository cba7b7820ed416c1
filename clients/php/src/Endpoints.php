<?php

declare(strict_types=1);

namespace Bursar;

/** What the service can be asked: method, path, whether the secret is sent, and the names of the parameters. */
final class Endpoints
{
    public const ALL = [
        'createWallet' => ['POST', 'wallet', false, ['currency', 'webhook', 'metadata']],
        'getWallet' => ['GET', 'wallet', false, ['walletID']],
        'setWalletMetadata' => ['PUT', 'wallet/metadata', false, ['walletID', 'metadata']],
        'setWalletWebhook' => ['PUT', 'wallet/webhook', false, ['webhook', 'walletID', 'currency']],
        'listCurrencies' => ['GET', 'wallet/currencies', false, []],
        'listWallets' => ['GET', 'account/wallets', false, [
            'currency', 'metadata', 'address', 'from', 'to', 'limit', 'cursor',
        ]],
        'listDeposits' => ['GET', 'wallet/deposits', false, [
            'walletID', 'status', 'currency', 'hashID', 'from', 'to', 'limit', 'cursor',
        ]],
        'getDeposit' => ['GET', 'wallet/deposit', false, ['depositID']],
        'getDepositByHash' => ['GET', 'wallet/deposit/hash', false, ['hashID']],
        'createCharge' => ['POST', 'charge', false, [
            'currency', 'webhook', 'metadata', 'minimum', 'expires', 'amount', 'price', 'priceCurrency', 'rateLock',
            'underPercent', 'underAmount', 'overPercent', 'overAmount', 'late', 'other', 'reference', 'description',
            'customer', 'redirectSuccess', 'redirectFailure', 'contact', 'locale', 'linkFormat', 'events',
        ]],
        'getCharge' => ['GET', 'charge', false, ['chargeID']],
        'watchCharge' => ['GET', 'charge/events', false, ['chargeID', 'seen', 'wait']],
        'cancelCharge' => ['POST', 'charge/cancel', false, ['chargeID']],
        'quoteCharge' => ['POST', 'charge/quote', false, ['chargeID', 'currency']],
        'resolveCharge' => ['POST', 'charge/resolve', false, ['chargeID', 'depositID', 'resolution']],
        'refundCharge' => ['POST', 'charge/refund', true, [
            'chargeID', 'depositID', 'address', 'amount', 'part', 'rate', 'fee', 'order',
        ]],
        'createLink' => ['POST', 'link', false, [
            'currency', 'webhook', 'metadata', 'expires', 'amount', 'price', 'priceCurrency', 'rateLock',
            'underPercent', 'underAmount', 'overPercent', 'overAmount', 'late', 'other', 'description',
            'redirectSuccess', 'redirectFailure', 'contact', 'locale', 'linkFormat', 'events', 'fields', 'maxUses',
            'closesAt',
        ]],
        'getLink' => ['GET', 'link', false, ['linkID']],
        'closeLink' => ['POST', 'link/close', false, ['linkID']],
        'listLinks' => ['GET', 'account/links', false, [
            'open', 'metadata', 'currency', 'from', 'to', 'limit', 'cursor',
        ]],
        'listRates' => ['GET', 'rates', false, []],
        'listCharges' => ['GET', 'account/charges', false, [
            'status', 'label', 'attention', 'reference', 'customer', 'metadata', 'currency', 'from', 'to', 'limit', 'cursor',
        ]],
        'getAccount' => ['GET', 'account', false, []],
        'listLedger' => ['GET', 'account/ledger', false, ['currency', 'kind', 'since', 'until', 'limit', 'cursor']],
        'getStatement' => ['GET', 'account/statement', false, [
            'month', 'from', 'to', 'currency', 'format', 'limit', 'cursor',
        ]],
        'withdraw' => ['POST', 'account/withdraw', true, [
            'currency', 'amount', 'address', 'reference', 'metadata', 'order',
        ]],
        'quoteWithdrawal' => ['GET', 'account/withdraw/fee', false, ['currency', 'amount', 'address']],
        'cancelWithdrawal' => ['POST', 'account/withdraw/cancel', true, ['withdrawalID']],
        'getWithdrawal' => ['GET', 'account/withdrawal', false, ['withdrawalID']],
        'withdrawEach' => ['POST', 'account/withdrawals', true, ['withdrawals']],
        'listWithdrawals' => ['GET', 'account/withdrawals', false, [
            'status', 'currency', 'hashID', 'address', 'reference', 'metadata', 'from', 'to', 'limit', 'cursor',
        ]],
        'listDestinations' => ['GET', 'account/destinations', false, [
            'currency', 'address', 'usable', 'limit', 'cursor',
        ]],
        'listOrderKeys' => ['GET', 'account/order-keys', false, []],
        'listAllDeposits' => ['GET', 'account/deposits', false, [
            'status', 'currency', 'hashID', 'address', 'from', 'to', 'limit', 'cursor',
        ]],
        'search' => ['GET', 'account/search', false, ['q']],
        'listRequests' => ['GET', 'account/requests', false, ['status', 'path', 'requestID', 'limit', 'cursor']],
        'listEvents' => ['GET', 'account/events', false, ['after', 'type', 'event', 'wait', 'limit']],
        'listDeliveries' => ['GET', 'account/webhooks', false, ['status', 'event', 'from', 'to', 'limit', 'cursor']],
        'redeliver' => ['POST', 'account/webhooks/redeliver', false, ['eventID', 'since']],
        'testWebhook' => ['POST', 'account/webhooks/test', false, ['walletID', 'webhook']],
    ];
}
