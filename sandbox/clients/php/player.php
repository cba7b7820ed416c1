<?php

declare(strict_types=1);

// Plays calls, one line of JSON each, with the PHP client: php player.php URL KEY SECRET WEBHOOK_SECRET.

require __DIR__ . '/../../../clients/php/autoload.php';

[, $url, $key, $secret, $webhookSecret] = $argv;
$client = new Bursar\Client(['baseURL' => $url, 'key' => $key, 'secret' => $secret]);

$play = static function (string $call, array $values, string $key) use ($client, $webhookSecret) {
    if ($call === 'verify') {
        return Bursar\Webhook::verify($webhookSecret, $values['headers'], $values['body']);
    }
    if ($call === 'nextEvent') {
        return $client->feed($values)->current();
    }
    if ($call === 'everyWallet') {
        return iterator_to_array($client->each('listWallets', $values), false);
    }
    $options = $key === '' ? [] : ['idempotencyKey' => $key];
    return $call === 'getAccount' ? $client->getAccount() : $client->$call($values, ...($options ? [$options] : []));
};

while (($line = fgets(STDIN)) !== false) {
    $asked = json_decode($line, true);
    try {
        $answer = ['result' => $play($asked['call'], $asked['values'], $asked['key'])];
    } catch (Bursar\BursarError $e) {
        $error = ['status' => $e->status, 'code' => $e->errorCode, 'field' => $e->field, 'docs' => $e->docs];
        $answer = ['error' => $error];
    } catch (Bursar\WebhookError $e) {
        $answer = ['error' => ['code' => $e->why]];
    }
    echo json_encode($answer), "\n";
}
