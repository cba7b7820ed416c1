// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;

// Teller holds tokens and pays several addresses in one transaction, for whoever asks. One payment that fails undoes all.
contract Teller {
    function pay(address token, address[] calldata to, uint256[] calldata values) external {
        for (uint256 i = 0; i < to.length; i++) {
            (bool done, bytes memory said) = token.call(abi.encodeWithSignature("transfer(address,uint256)", to[i], values[i]));
            require(done && (said.length == 0 || abi.decode(said, (bool))), "a transfer failed");
        }
    }
}
