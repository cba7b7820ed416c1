<?php

declare(strict_types=1);

// Creates a wallet, waits for what is paid to it, and shows the balance.
//
//     BURSAR_API=http://127.0.0.1:8080 BURSAR_API_KEY=... php example.php BTC https://shop.example/hook

require __DIR__ . '/autoload.php';

if ($argc !== 3) {
    fwrite(STDERR, "usage: example.php CURRENCY WEBHOOK\n");
    exit(2);
}
[, $currency, $webhook] = $argv;
$client = new Bursar\Client(['baseURL' => getenv('BURSAR_API'), 'key' => getenv('BURSAR_API_KEY')]);
$position = $client->listEvents(['after' => 'newest'])['next'];
try {
    $wallet = $client->createWallet(['currency' => $currency, 'webhook' => $webhook, 'metadata' => 'customer 7']);
} catch (Bursar\BursarError $refused) {
    fwrite(STDERR, "$refused->errorCode of $refused->field, see $refused->docs: $refused->reason\n");
    exit(1);
}
echo "pay to $wallet[address]\n";
foreach ($client->feed(['after' => $position, 'wait' => 20, 'event' => 'deposit']) as $event) {
    if ($event['deposit']['walletID'] === $wallet['walletID']) {
        echo "paid {$event['deposit']['amount']}\n";
        echo "balance {$client->getAccount()['balance'][$currency]}\n";
        break;
    }
}
